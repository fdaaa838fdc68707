module proofmill.example/platform

go 1.19
