; Definitions and references of Go sources; capture names as in python.scm, and
; package: the name in the package clause; method, interface_method: methods; constants and variables: go-top.scm.

(package_clause (package_identifier) @package)

(function_declaration name: (identifier)) @function
(method_declaration name: (field_identifier)) @method
(method_elem name: (field_identifier)) @interface_method
(type_spec name: (type_identifier)) @type
(type_alias name: (type_identifier)) @type

(call_expression function: (identifier) @call)
(call_expression function: (selector_expression field: (field_identifier) @call_member))
; With type arguments a call may look like a conversion.
(type_conversion_expression type: (generic_type type: (type_identifier) @call))
(type_conversion_expression type: (generic_type type: (qualified_type name: (type_identifier) @call_member)))
(call_expression function: (index_expression operand: (identifier) @call))
(call_expression function: (index_expression operand: (selector_expression field: (field_identifier) @call_member)))

(type_identifier) @type_use
(qualified_type name: (type_identifier) @type_use_member)

(import_spec) @import

(ERROR) @error
