// votive-verify: `votive verify` alone, for machines and cross builds that have the library and nothing that reads text.
#include "run.h"
#include "verify.h"

int main(int argc, char** argv) {
  using namespace votive::app;
  CLI::App app("prove that this machine gives Votive's bits");
  app.name("votive-verify");
  int code = success;
  configure_verify(app, code);
  return run(app, argc, argv, code);
}
