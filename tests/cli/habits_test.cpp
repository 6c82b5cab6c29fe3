// The command as those who know gzip, xz and zstd call it: without the name of a subcommand.
#include "command_runner.h"
#include "places.h"
#include "terminal.h"

namespace gdelta::cli_test {
namespace {

class Habits : public CommandTest {
 protected:
  Habits() { bytes_ = sensor_bytes(3000); }
  /// Runs a line of shell in the folder; "gdelta" and its other names are found there.
  int shell(const std::string& line) const {
    for (const char* name : {"gdelta", "ungdelta", "gdcat"})
      if (!exists(name)) std::filesystem::create_symlink(test::kCommand, path(name));
    const std::string command =
        "cd '" + folder_.string() + "' && PATH=\"$PWD:$PATH\" && { " + line + "; } 2>said";
    return std::system(command.c_str());
  }
  std::string packed(const Names& options = {}) {
    Names arguments = {"compress", "-q"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run(arguments, bytes_).out;
  }
  std::string bytes_;
};

TEST_F(Habits, FilesAloneAreCompressedAndCompressedOnesDecompressed) {
  write_file("a", bytes_);
  write_file("b", bytes_);
  EXPECT_EQ(run({"-q", "a", "b"}).exit_status, 0);
  EXPECT_EQ(names(), (Names{"a", "a.gdz", "b", "b.gdz"}));
  EXPECT_EQ(run({"-f", "a.gdz", "-o", "c"}).exit_status, 0);
  EXPECT_TRUE(read_file("c") == bytes_);
  const Outcome mixed = run({"-f", "a", "b.gdz"});
  EXPECT_EQ(mixed.exit_status, 1);
  EXPECT_EQ(mixed.err,
            "gdelta: some of the files end in .gdz and some do not; -z compresses, -d "
            "decompresses\nTry 'gdelta --help'.\n");
  EXPECT_EQ(run({"-q", "-z", "-f", "a.gdz"}).exit_status, 0);
  EXPECT_TRUE(exists("a.gdz.gdz"));
}

TEST_F(Habits, ModesStandAnywhereAndInClusters) {
  write_file("a", bytes_);
  write_file("a.gdz", packed());
  for (const Names& arguments :
       {Names{"-dc", "a.gdz"}, Names{"-cd", "a.gdz"}, Names{"-dcf", "a.gdz"},
        Names{"a.gdz", "-c", "-d"}, Names{"--decompress", "--stdout", "a.gdz"},
        Names{"-c", "a.gdz"}, Names{"-zdc", "a.gdz"}, Names{"-dcT2", "a.gdz"},
        Names{"-cdT", "2", "a.gdz"}, Names{"compress", "-dc", "a.gdz"},
        Names{"decompress", "-dc", "a.gdz"}}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_status, 0) << arguments[0] << outcome.err;
    EXPECT_TRUE(outcome.out == bytes_) << arguments[0];
  }
  for (const Names& arguments : {Names{"-tv", "a.gdz"}, Names{"a.gdz", "--test", "-v"}})
    EXPECT_EQ(run(arguments).err, "gdelta: a.gdz: ok, 12000 bytes\n");
  EXPECT_EQ(run({"-l", "a.gdz"}).out, run({"list", "a.gdz"}).out);
  EXPECT_EQ(run({"-lv", "a.gdz"}).out, run({"list", "-v", "a.gdz"}).out);
  EXPECT_EQ(run({"--json", "--list", "a.gdz"}).out, run({"list", "--json", "a.gdz"}).out);
  EXPECT_TRUE(run({"-9kqc", "a"}).out == packed({"-9"}));
}

TEST_F(Habits, AValueIsNoMode) {
  write_file("a", bytes_);
  EXPECT_EQ(run({"-q", "-o", "-d", "a"}).exit_status, 0);
  EXPECT_EQ(run({"-q", "-o-t", "a"}).exit_status, 0);
  EXPECT_EQ(run({"-q", "--output", "-l", "a"}).exit_status, 0);
  write_file("-z", bytes_);
  EXPECT_EQ(run({"-q", "--", "-z"}).exit_status, 0);
  EXPECT_EQ(names(), (Names{"-d", "-l", "-t", "-z", "-z.gdz", "a"}));
}

TEST_F(Habits, LevelsHaveNames) {
  write_file("a", bytes_);
  for (const char* option : {"--best", "--level=9", "-9"})
    EXPECT_TRUE(run({"-qc", option, "a"}).out == packed({"-9"})) << option;
  for (const char* option : {"--fast", "--fast=3", "--level=1", "-1"})
    EXPECT_TRUE(run({"compress", "-qc", option, "a"}).out == packed({"-1"})) << option;
  EXPECT_TRUE(run({"compress", "-qc", "--level", "3", "a"}).out == packed({"-3"}));
  EXPECT_TRUE(run({"compress", "-qc", "-3", "--best", "--level", "1", "a"}).out == packed({"-1"}));
}

TEST_F(Habits, EachWayTakesTheOptionsOfTheOther) {
  write_file("a.gdz", packed());
  const Outcome back = run({"-9", "--type", "i16", "--tuple", "2", "-dc", "a.gdz"});
  EXPECT_EQ(back.exit_status, 0) << back.err;
  EXPECT_TRUE(back.out == bytes_);
  EXPECT_TRUE(run({"compress", "-q", "-M", "1G", "--no-sparse"}, bytes_).out == packed());
  EXPECT_EQ(run({"decompress", "--help"}).out.find("--tuple"), std::string::npos);
  EXPECT_EQ(run({"compress", "--help"}).out.find("--salvage"), std::string::npos);
}

TEST_F(Habits, OptionsOfTheOtherWayNeedNoCompany) {
  write_file("a", bytes_);
  write_file("a.gdz", packed());
  for (const Names& options : {Names{"--tuple", "2"}, Names{"--record", "i8", "--type", "i8"},
                               Names{"--meta", "nothing"}}) {
    for (const char* command : {"decompress", "-c"}) {
      Names arguments = {command, "-c", "a.gdz"};
      arguments.insert(arguments.end(), options.begin(), options.end());
      const Outcome outcome = run(arguments);
      EXPECT_EQ(outcome.exit_status, 0) << options[0] << outcome.err;
      EXPECT_TRUE(outcome.out == bytes_) << options[0];
    }
  }
  EXPECT_TRUE(run({"compress", "-qc", "--fill", "a"}).out == packed());
  write_file("offsets", std::string("\0\0\0\0\xb8\x0b\0\0", 8));
  EXPECT_EQ(run({"compress", "-qc", "--record", "i16x2", "--segments", "offsets", "--salvage", "a"})
                .exit_status,
            0);
  EXPECT_EQ(run({"decompress", "-c", "--fill", "a.gdz"}).exit_status, 1) << "its own need it";
  EXPECT_EQ(run({"compress", "-c", "--tuple", "2", "a"}).exit_status, 1);
}

TEST_F(Habits, TestAndListTakeWhatMeansNothingToThem) {
  write_file("a.gdz", packed());
  const std::string listed = run({"list", "a.gdz"}).out;
  for (const std::string letters : {"9", "k", "f", "c", "T1", "kc9", "fT2", "1kfc"}) {
    EXPECT_EQ(run({"-t" + letters, "a.gdz"}).exit_status, 0) << letters;
    const Outcome list = run({"-l" + letters, "a.gdz"});
    EXPECT_EQ(list.exit_status, 0) << letters << list.err;
    EXPECT_EQ(list.out, listed) << letters;
  }
  for (const Names& options :
       {Names{"--rm"}, Names{"--best"}, Names{"--level", "3"}, Names{"--type", "i16"},
        Names{"-o", "b"}, Names{"--output-dir", "d"}, Names{"--salvage"}, Names{"--tuple", "2"},
        Names{"--device", "cpu"}, Names{"--max-output", "1G"}, Names{"--segments", "s"}})
    for (const char* mode : {"-t", "-l", "test", "list"}) {
      Names arguments = {mode, "a.gdz"};
      arguments.insert(arguments.end(), options.begin(), options.end());
      const Outcome outcome = run(arguments);
      EXPECT_EQ(outcome.exit_status, 0) << mode << options[0] << outcome.err;
    }
  EXPECT_EQ(names(), (Names{"a.gdz"}));
  EXPECT_EQ(run({"-t19", "a.gdz"}).err.substr(0, 33), "gdelta: there is no level -19; le");
  EXPECT_EQ(run({"-lx", "a.gdz"}).exit_status, 1);
  for (const char* command : {"test", "list"}) {
    const std::string help = run({command, "--help"}).out;
    EXPECT_EQ(help.find("--keep"), std::string::npos) << help;
    EXPECT_NE(help.find("[OPTIONS] FILE...\n"), std::string::npos) << help;
    EXPECT_EQ(help.find("\n\n\n"), std::string::npos) << help;
  }
}

TEST_F(Habits, StdinIsCompressedWhereItIsNoTerminal) {
  EXPECT_TRUE(run({}, bytes_).out == packed());
  EXPECT_TRUE(run({"-d"}, packed()).out == bytes_);
  const Terminal terminal;
  if (terminal.inside < 0) GTEST_SKIP() << "there are no pseudo-terminals here";
  const Outcome help = start({}, [&] { dup2(terminal.inside, STDIN_FILENO); }).finish();
  EXPECT_EQ(help.exit_status, 1);
  EXPECT_EQ(help.err, run({"--help"}).out);
}

TEST_F(Habits, AFileCalledLikeACommandTakesAPathOrDashes) {
  write_file("test", bytes_);
  EXPECT_EQ(run({"test"}).exit_status, 1) << "the command comes first";
  EXPECT_EQ(run({"-q", "./test"}).exit_status, 0);
  EXPECT_EQ(run({"-qf", "--", "test"}).exit_status, 0);
  EXPECT_EQ(names(), (Names{"test", "test.gdz"}));
}

TEST_F(Habits, OtherNamesOfTheProgramDecompress) {
  write_file("a.gdz", packed());
  EXPECT_EQ(shell("./ungdelta -k a.gdz"), 0) << read_file("said");
  EXPECT_TRUE(read_file("a") == bytes_);
  EXPECT_EQ(shell("gdcat a.gdz a.gdz >two; gdcat <a.gdz >one"), 0) << read_file("said");
  EXPECT_TRUE(read_file("one") == bytes_);
  EXPECT_TRUE(read_file("two") == bytes_ + bytes_);
  EXPECT_EQ(shell("gdcat -l a.gdz >listed; gdelta list a.gdz | cmp - listed"), 0)
      << read_file("said");
  EXPECT_EQ(shell("gdcat --help >help; gdelta decompress --help | cmp - help"), 0);
}

TEST_F(Habits, TarWritesAndReadsWithTheSameWords) {
  if (std::system("tar --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no tar here";
  std::filesystem::create_directory(path("folder"));
  write_file("folder/a", bytes_);
  for (const std::string words :
       {"gdelta", "gdelta -9", "gdelta compress", "gdelta compress -q1 -T1"}) {
    const std::string tar = "tar --use-compress-program='" + words + "' ";
    EXPECT_EQ(shell(tar + "-cf a.tar.gdz folder && rm folder/a && " + tar + "-xf a.tar.gdz"), 0)
        << words << read_file("said");
    EXPECT_TRUE(read_file("folder/a") == bytes_) << words;
  }
  EXPECT_EQ(shell("gdelta -t a.tar.gdz"), 0) << read_file("said");
}

class Folders : public Habits {
 protected:
  Folders() {
    std::filesystem::create_directories(path("d/inner"));
    write_file("d/a", bytes_);
    write_file("d/inner/b", bytes_);
    write_file("d/old.gdz", "not really");
    write_file("outside", bytes_);
    std::filesystem::create_symlink("../outside", path("d/link"));
    std::filesystem::create_directory_symlink("..", path("d/up"));
  }
  Names names_below(const std::string& folder) const {
    Names found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path(folder)))
      if (entry.is_regular_file() && !entry.is_symlink())
        found.push_back(std::filesystem::relative(entry.path(), path(folder)).string());
    std::sort(found.begin(), found.end());
    return found;
  }
};

TEST_F(Folders, RecursionTakesFilesAndFollowsNoLinks) {
  EXPECT_EQ(run({"-q", "-r", "d", "outside"}).exit_status, 0);
  EXPECT_EQ(names_below("d"), (Names{"a", "a.gdz", "inner/b", "inner/b.gdz", "old.gdz"}));
  EXPECT_TRUE(exists("outside.gdz"));
  EXPECT_FALSE(exists("d/link.gdz"));
  std::filesystem::remove(path("d/old.gdz"));
  EXPECT_EQ(run({"-dr", "--rm", "-f", "d"}).exit_status, 0);
  EXPECT_EQ(names_below("d"), (Names{"a", "inner/b"}));
  EXPECT_TRUE(read_file("d/inner/b") == bytes_);
  EXPECT_EQ(run({"-q", "d"}).err, "gdelta: d: is a directory; -r takes the files in it\n");
}

TEST_F(Folders, AFolderThatCannotBeReadDoesNotHideTheOthers) {
  std::filesystem::create_directory(path("d/closed"));
  std::filesystem::permissions(path("d/closed"), std::filesystem::perms::none);
  for (const char* folder : {".", "d", "d/inner"})
    std::filesystem::permissions(path(folder), std::filesystem::perms::all);
  const Outcome outcome = start({"-qr", "d"}, become_nobody).finish();
  std::filesystem::permissions(path("d/closed"), std::filesystem::perms::all);
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.err, "gdelta: d/closed: Permission denied\n");
  EXPECT_TRUE(exists("d/a.gdz") && exists("d/inner/b.gdz"));
}

TEST_F(Folders, OutputsGoToTheOutputFolder) {
  EXPECT_EQ(run({"-q", "--output-dir", "out/deep", "d/a", "-r", "d/inner", "d/"}).exit_status, 0);
  EXPECT_EQ(names_below("out/deep"), (Names{"a.gdz", "d/a.gdz", "d/inner/b.gdz", "inner/b.gdz"}));
  EXPECT_EQ(run({"-d", "-r", "--output-dir=back", "out/deep/."}).exit_status, 0);
  EXPECT_EQ(names_below("back"), (Names{"a", "d/a", "d/inner/b", "inner/b"}));
  EXPECT_TRUE(read_file("back/d/inner/b") == bytes_);
}

TEST_F(Folders, TwoInputsDoNotShareAnOutput) {
  write_file("d/inner/a", random_bytes(100));
  const Outcome outcome = run({"-qf", "--rm", "--output-dir", "out", "d/a", "d/inner/a"});
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.err, "gdelta: d/inner/a: out/a.gdz is the output of another input already\n");
  EXPECT_TRUE(exists("d/inner/a"));
  EXPECT_TRUE(run({"-dc", "out/a.gdz"}).out == bytes_);
}

TEST_F(Folders, ListsNameFiles) {
  write_file("with\nbreak", bytes_);
  write_file("list", "d/a\n\noutside\n");
  EXPECT_EQ(run({"-q", "--filelist", "list"}).exit_status, 0);
  EXPECT_TRUE(exists("d/a.gdz") && exists("outside.gdz"));
  EXPECT_EQ(
      run({"-q", "--filelist0", "-"}, std::string("with\nbreak\0d/inner/b\0", 22)).exit_status, 0);
  EXPECT_TRUE(exists("with\nbreak.gdz") && exists("d/inner/b.gdz"));
  const Outcome empty = run({"--filelist", "-"});
  EXPECT_EQ(empty.exit_status, 0) << empty.err;
  EXPECT_EQ(empty.out, "") << "an empty list is not stdin";
  EXPECT_EQ(run({"--filelist", "missing"}).err, "gdelta: missing: No such file or directory\n");
}

TEST_F(Folders, AreTestedAndListedToo) {
  std::filesystem::remove(path("d/old.gdz"));
  ASSERT_EQ(run({"-qr", "d"}).exit_status, 0);
  write_file("list", "d/a.gdz\n");
  for (const char* command : {"test", "list"}) {
    const Outcome all = run({command, "-vr", "d"});
    EXPECT_EQ(all.exit_status, 0) << all.err;
    const std::string told = all.out + all.err;
    EXPECT_NE(told.find("d/a.gdz"), std::string::npos) << told;
    EXPECT_NE(told.find("d/inner/b.gdz"), std::string::npos) << told;
    const Outcome listed = run({command, "-v", "--filelist", "list"});
    EXPECT_NE((listed.out + listed.err).find("d/a.gdz"), std::string::npos) << listed.err;
    EXPECT_EQ(run({command, "-v", "--filelist0", "-"}, std::string("d/a.gdz\0", 8)).out,
              listed.out);
    EXPECT_EQ(run({command, "d"}).err, "gdelta: d: is a directory; -r takes the files in it\n");
    EXPECT_EQ(run({command}).err.substr(0, 25), "gdelta: FILE is required\n");
  }
  EXPECT_EQ(run({"-tr", "d"}).exit_status, 0);
  write_file("d/inner/b.gdz", "damaged");
  EXPECT_EQ(run({"test", "-qr", "d"}).exit_status, 1);
}

TEST_F(Folders, SeveralInputsHaveNoSingleOutput) {
  for (const Names& arguments : {Names{"-r", "d", "-o", "x"}, Names{"--filelist", "l", "-o", "x"},
                                 Names{"--output-dir", "x", "-c", "d/a"}})
    EXPECT_EQ(run(arguments).exit_status, 1);
  EXPECT_FALSE(exists("x"));
}

}  // namespace
}  // namespace gdelta::cli_test
