module prove

go 1.18
