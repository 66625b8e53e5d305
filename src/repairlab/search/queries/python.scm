; Definitions and references of Python sources. Capture names are read by symbols_parse.py:
; type, alias, function, variable: definitions; call, base, type_use: references by a plain name;
; *_member: references by the last name of a dotted one; import: whole import statements.

(function_definition name: (identifier)) @function
(class_definition name: (identifier)) @type
(type_alias_statement left: (type (identifier) @alias))

; Variables of classes; those of modules: python-top.scm.
(class_definition body: (block (expression_statement (assignment left: (identifier) @variable))))

(call function: (identifier) @call)
(call function: (attribute attribute: (identifier) @call_member))
(decorator (identifier) @call)
(decorator (attribute attribute: (identifier) @call_member))

(class_definition superclasses: (argument_list (identifier) @base))
(class_definition superclasses: (argument_list (attribute attribute: (identifier) @base_member)))

(type (identifier) @type_use)
(type (attribute attribute: (identifier) @type_use_member))
(type (generic_type (identifier) @type_use))

(import_statement) @import
(import_from_statement) @import

(ERROR) @error
