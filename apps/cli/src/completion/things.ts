/** The kinds of records that a value can name, so that the API can complete it. */

export const things = ['project', 'story', 'epic', 'column', 'member', 'agent', 'team', 'profile'] as const;
export type Thing = (typeof things)[number];

const ids = /(?:^|[-.])(epic|column|member|agent|team)-ids?$/;

/**
 * Finds the kind by the flag without its dashes and the placeholder of its value, such as `project-id` and
 * `project`.
 */
export function thingOf(name: string, placeholder: string): Thing | undefined {
  if (placeholder === 'project' || placeholder === 'story') return placeholder;
  if (name === 'profile') return 'profile';
  if (placeholder !== 'id') return undefined;
  return name === 'assignee-id' ? 'member' : (ids.exec(name)?.[1] as Thing | undefined);
}
