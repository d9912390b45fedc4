/** The kinds of records that a value can name, so that the API can complete it. */

export const completableKinds = [
  'project',
  'story',
  'epic',
  'column',
  'member',
  'agent',
  'team',
  'profile',
] as const;
export type CompletableKind = (typeof completableKinds)[number];

const idFlagPattern = /(?:^|[-.])(epic|column|member|agent|team)-ids?$/;

/**
 * Finds the kind by the flag without its dashes and the placeholder of its value, such as `project-id` and
 * `project`.
 */
export function completableKindOf(flagName: string, placeholder: string): CompletableKind | undefined {
  if (placeholder === 'project' || placeholder === 'story') return placeholder;
  if (flagName === 'profile') return 'profile';
  if (placeholder !== 'id') return undefined;
  return flagName === 'assignee-id'
    ? 'member'
    : (idFlagPattern.exec(flagName)?.[1] as CompletableKind | undefined);
}
