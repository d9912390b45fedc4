/** The addresses of what clients can read as resources. */
import { UriTemplate } from '@modelcontextprotocol/server';

export const storyUri = 'muster://stories/{storyId}';
export const specUri = 'muster://stories/{storyId}/spec';
export const eventsUri = 'muster://executions/{executionId}/events';

/** No address of ours is longer, and the SDK throws at one that is much longer. */
const mostLetters = 300;

/** The one variable of a template in an address that fits it. */
export function variableIn(template: string, uri: string): string | undefined {
  if (uri.length > mostLetters) return undefined;
  const value = Object.values(new UriTemplate(template).match(uri) ?? {})[0];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
