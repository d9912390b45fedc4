/** The URI templates of the resources. */
import { UriTemplate } from '@modelcontextprotocol/server';

export const storyUri = 'muster://stories/{storyId}';
export const specUri = 'muster://stories/{storyId}/spec';
export const eventsUri = 'muster://executions/{executionId}/events';
/** The inbox for work of the caller. It has no variable, so it is a resource rather than a template. */
export const inboxUri = 'muster://inbox';

/** Maximum length of a URI. All valid ones are shorter, and the SDK throws on much longer ones. */
const maxUriChars = 300;

/** Extracts the template's only variable from a URI; undefined if the URI does not match. */
export function extractVariable(template: string, uri: string): string | undefined {
  if (uri.length > maxUriChars) return undefined;
  const value = Object.values(new UriTemplate(template).match(uri) ?? {})[0];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
