#include "input_names.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <system_error>

#include "input_file.h"
#include "temporary_name.h"

namespace gdelta::cli {

namespace {

namespace fs = std::filesystem;

Result<std::string> read_text(const std::string& path) {
  auto input = InputFile::open(path);
  if (!input) return tl::unexpected(input.error());
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const auto got = input->read(std::as_writable_bytes(std::span(buffer)));
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return text;
    text.append(buffer.data(), *got);
  }
}

/// Names in a list are files, also if one is "-". Empty lines name nothing.
void add_listed(const std::string& list, char separator, std::vector<std::string>& names,
                Console& console) {
  const auto text = read_text(list);
  if (!text) return console.error(list == "-" ? "(stdin)" : list, text.error());
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find(separator, at), text->size());
    const std::string name = text->substr(at, end - at);
    if (!name.empty()) names.push_back(name == "-" ? "./-" : name);
    at = end + 1;
  }
}

bool is_wanted(const fs::path& path, FolderFiles wanted) {
  const std::string name = path.filename().string();
  if (is_temporary_name(name)) return false;
  return name.ends_with(kSuffix) == (wanted == FolderFiles::compressed);
}

/// Collects the regular files in and below `folder`. One folder that cannot be read does not hide
/// the others.
void walk(const fs::path& folder, FolderFiles wanted, std::vector<fs::path>& found,
          Console& console) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  std::vector<fs::path> folders;
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::error_code gone;
    const fs::file_status status = entries->symlink_status(gone);
    if (fs::is_directory(status)) {
      folders.push_back(entries->path());
    } else if (fs::is_regular_file(status) && is_wanted(entries->path(), wanted)) {
      found.push_back(entries->path());
    }
  }
  if (error) console.error(folder.string(), error.message());
  for (const fs::path& inner : folders) walk(inner, wanted, found, console);
}

/// A folder keeps its name in the output folder, as with cp -r, if it has one that leads down.
void add_folder(const std::string& path, FolderFiles wanted, std::vector<InputName>& names,
                Console& console) {
  const fs::path folder = path;
  std::vector<fs::path> found;
  walk(folder, wanted, found, console);
  std::sort(found.begin(), found.end());
  fs::path kept = folder.has_filename() ? folder.filename() : folder.parent_path().filename();
  if (kept == "." || kept == "..") kept.clear();
  for (const fs::path& file : found)
    names.push_back({file.string(), (kept / file.lexically_relative(folder)).string()});
}

}  // namespace

void add_input_arguments(CLI::App& app, InputArguments& arguments, bool needed,
                         const std::string& files) {
  CLI::Option* named_files = add_files(app, arguments.files, needed, files);
  const auto listed = [named_files](const std::string&) { named_files->required(false); };
  app.add_flag("-r,--recursive", arguments.recursive, "Take the files in folders");
  app.add_option("--filelist", arguments.lists, "Take the files that this file names, one a line")
      ->option_text("FILE")
      ->expected(1)
      ->take_all()
      ->check(named())
      ->each(listed);
  app.add_option("--filelist0", arguments.null_lists, "The same with a NUL after each name")
      ->option_text("FILE")
      ->expected(1)
      ->take_all()
      ->check(named())
      ->each(listed);
}

bool is_refused_folder(const std::string& path, Console& console) {
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) return false;
  console.error(path, "is a directory; -r takes the files in it");
  return true;
}

std::vector<InputName> input_names(const InputArguments& arguments, FolderFiles wanted,
                                   Console& console) {
  std::vector<std::string> named = arguments.files;
  for (const std::string& list : arguments.lists) add_listed(list, '\n', named, console);
  for (const std::string& list : arguments.null_lists) add_listed(list, '\0', named, console);
  std::vector<InputName> names;
  for (const std::string& path : named) {
    std::error_code error;
    if (arguments.recursive && path != "-" && fs::is_directory(path, error)) {
      add_folder(path, wanted, names, console);
    } else {
      names.push_back({path, fs::path(path).filename().string()});
    }
  }
  return names;
}

}  // namespace gdelta::cli
