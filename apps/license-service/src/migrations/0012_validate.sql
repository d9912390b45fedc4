-- Validates the constraint of 0011.
alter table licenses.operator_tokens validate constraint operator_tokens_scopes_check;
