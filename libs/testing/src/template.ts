/** The migrated database of which specs and proofs have clones of their own. */
export const templateName = 'muster_template';

/** Held by those who make the template, and by those who clone it: two clones at once would each find it in use. */
export const templateLock = 4100;

/** The statements that clone it. */
export const cloning = (name: string): readonly string[] => [
  `create database ${name} template ${templateName} strategy file_copy`,
  // The pipeline runs the loser of a deadlock again, so no caller would notice one. Nothing here looks for them: a
  // transaction that is in one comes to a timeout, and that is seen.
  `alter database ${name} set deadlock_timeout = '1min'`,
];
