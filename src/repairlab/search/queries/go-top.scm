; Constants and variables of Go packages: specs of one or more names. Matched from the root alone.

(source_file (const_declaration (const_spec) @constants))
(source_file (var_declaration (var_spec) @variables))
(source_file (var_declaration (var_spec_list (var_spec) @variables)))
