; Variables of Python modules, also where a condition or an exception decides. Matched from the root alone,
; which spares the search for these forms in the whole tree.

(module (expression_statement (assignment left: (identifier) @variable)))
(module (expression_statement (assignment left: (pattern_list (identifier) @variable))))
(module (expression_statement (assignment right: (assignment left: (identifier) @variable))))
(module (if_statement consequence: (block (expression_statement (assignment left: (identifier) @variable)))))
(module (if_statement (elif_clause (block (expression_statement (assignment left: (identifier) @variable))))))
(module (if_statement (else_clause (block (expression_statement (assignment left: (identifier) @variable))))))
(module (try_statement body: (block (expression_statement (assignment left: (identifier) @variable)))))
(module (try_statement (except_clause (block (expression_statement (assignment left: (identifier) @variable))))))
