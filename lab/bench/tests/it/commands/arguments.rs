//! The command line.

use crate::commands::folder;

const COMMANDS: [&str; 25] = [
    "",
    "list",
    "run",
    "runs",
    "compare",
    "export",
    "import",
    "remove",
    "platform",
    "machine",
    "model",
    "report",
    "input",
    "answers",
    "cpu",
    "plonk-workload",
    "plonk-workload arithmetic",
    "bls-vectors",
    "pipeline",
    "pipeline run",
    "pipeline explore",
    "pipeline msm",
    "pipeline show",
    "completions",
    "man",
];

#[test]
fn help_of_every_command_has_examples() {
    let folder = folder();
    for command in COMMANDS {
        let help = folder.run(&format!("{command} --help")).succeeded().stdout;
        assert!(help.contains("Examples:\n  proofmill "), "{command}: {help}");
    }
}

#[test]
fn completions_and_man_pages_name_the_commands() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.run(&format!("completions {shell}")).succeeded().stdout;
        assert!(script.contains("proofmill-bench") && script.contains("platform"), "{shell}");
    }
    assert!(folder.run("man").succeeded().stdout.contains("platform"));
    std::fs::create_dir(folder.path("man1")).unwrap();
    folder.run("man man1").succeeded();
    assert!(folder.text("man1/proofmill-bench-run.1").contains("peers"));
}
