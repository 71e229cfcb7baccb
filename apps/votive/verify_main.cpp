// votive-verify: `votive verify` alone, for machines and cross builds that have the library and nothing that reads text.
#include <cstdio>
#include <new>

#include "command.h"
#include "verify.h"

int main(int argc, char** argv) {
  using namespace votive::app;
  CLI::App app("prove that this machine gives Votive's bits");
  app.name("votive-verify");
  int code = success;
  configure_verify(app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) { return app.exit(error) == 0 ? success : wrong_usage; } catch (const std::bad_alloc&) {
    std::fputs("votive-verify: out of memory\n", stderr);
    return failure;
  } catch (const std::exception& error) {
    std::fputs((std::string("votive-verify: ") + error.what() + "\n").c_str(), stderr);
    return failure;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fputs("votive-verify: standard output could not be written\n", stderr);
    return code == success ? failure : code;
  }
  return code;
}
