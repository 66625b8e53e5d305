module example.org/millrace

go 1.23
