#include "src/cli/command.h"

int main(int argc, char** argv) { return strobe::cli::RunStrobe(argc, argv); }
