// The machine's own limits: what every other table's ratios are ratios of, and how steady this machine is.
#include "bench/harness.h"

int main(int argc, char** argv) { return votive::bench::run_limits(argc, argv); }
