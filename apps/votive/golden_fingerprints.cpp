#include "fingerprints.h"
namespace votive::app {
const std::vector<GoldenFingerprint> golden_fingerprints = {};
}
