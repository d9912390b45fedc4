/** What a value on the command line names, so that it can be completed from the API. */

export const things = ['project', 'story', 'epic', 'column', 'member', 'agent', 'team', 'profile'] as const;
export type Thing = (typeof things)[number];

const ids = /(?:^|[-.])(epic|column|member|agent|team)-ids?$/;

/** By the flag (without its dashes) and the word that stands for its value: `project-id`, `project`. */
export function thingOf(name: string, placeholder: string): Thing | undefined {
  if (placeholder === 'project' || placeholder === 'story') return placeholder;
  if (name === 'profile') return 'profile';
  if (placeholder !== 'id') return undefined;
  return name === 'assignee-id' ? 'member' : (ids.exec(name)?.[1] as Thing | undefined);
}
