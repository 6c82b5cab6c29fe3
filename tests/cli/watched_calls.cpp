// Preloaded into the command by a test: writes down, in order, the calls that make an output safe, and
// lets the test act in between.
//   GDELTA_WATCH_LOG    a file that gets a line for each call: "fsync PATH", "rename FROM TO", "unlink PATH"
//   GDELTA_WATCH_GATE   a FIFO: an fsync waits until somebody has opened it for writing and closed it
//   GDELTA_WATCH_DAMAGE if there, an fsync changes the byte in the middle of the file
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void note(const std::string& line) {
  const char* const log = std::getenv("GDELTA_WATCH_LOG");
  if (log == nullptr) return;
  const int fd = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return;
  const std::string text = line + "\n";
  (void)!write(fd, text.data(), text.size());
  close(fd);
}

void wait_at_the_gate() {
  const char* const gate = std::getenv("GDELTA_WATCH_GATE");
  if (gate == nullptr) return;
  const int fd = open(gate, O_RDONLY | O_CLOEXEC);
  char byte;
  (void)!read(fd, &byte, 1);
  close(fd);
}

void damage(int fd) {
  if (std::getenv("GDELTA_WATCH_DAMAGE") == nullptr) return;
  const off_t middle = lseek(fd, 0, SEEK_END) / 2;
  const int again = open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDWR | O_CLOEXEC);
  unsigned char byte;
  (void)!pread(again, &byte, 1, middle);
  byte = static_cast<unsigned char>(~byte);
  (void)!pwrite(again, &byte, 1, middle);
  close(again);
}

std::string path_of(int fd) {
  char path[4096];
  const ssize_t size = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof path);
  const std::string text(path, size > 0 ? static_cast<std::size_t>(size) : 0);
  return text.substr(text.rfind('/') + 1);
}

}  // namespace

extern "C" {

int fsync(int fd) {
  note("fsync " + path_of(fd));
  wait_at_the_gate();
  damage(fd);
  return real<int(int)>("fsync")(fd);
}

int rename(const char* from, const char* to) noexcept {
  note(std::string("rename ") + from + " " + to);
  return real<int(const char*, const char*)>("rename")(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  note(std::string("rename ") + from + " " + to);
  return real<int(int, const char*, int, const char*, unsigned)>("renameat2")(from_folder, from,
                                                                              to_folder, to, flags);
}

int unlink(const char* path) noexcept {
  note(std::string("unlink ") + path);
  return real<int(const char*)>("unlink")(path);
}

}  // extern "C"
