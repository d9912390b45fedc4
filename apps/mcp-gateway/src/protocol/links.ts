/** Adds resource links to a result in which a story or spec was cut. The linked resource is complete. */
import { type ContentBlock } from '@modelcontextprotocol/server';
import { type AnswerBody, type ShortenedParts } from '../answers/answers.ts';
import { specUri, storyUri } from './uris.ts';

/** The first revision with resource links. Older clients reject a result with an unknown kind of content. */
const firstVersionWithLinks = '2025-06-18';

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as AnswerBody)[name] : undefined;

/** Lists the fields that were shortened, from `cut` as well as `truncated`. */
function cutFieldsOf(answerPart: unknown): ReadonlySet<string> {
  const { parts = [] } = (fieldOf(answerPart, 'cut') ?? {}) as Partial<ShortenedParts>;
  const truncated = fieldOf(answerPart, 'truncated');
  const sections: readonly unknown[] = Array.isArray(truncated) ? truncated : [];
  return new Set([...parts.map(({ path }) => path.split('.')[0]), ...sections].map(String));
}

function resourceLinksOf(answerPart: unknown, requestedStoryId: unknown): ContentBlock[] {
  // Prefer the record's own key to the id or key that the call used.
  const key = fieldOf(fieldOf(answerPart, 'story'), 'key') ?? requestedStoryId;
  if (typeof key !== 'string') return [];
  const cut = cutFieldsOf(answerPart);
  const whole = [
    { field: 'spec', uri: specUri, name: `${key} spec`, mimeType: 'text/markdown' },
    { field: 'story', uri: storyUri, name: key, mimeType: 'application/json' },
  ];
  return whole
    .filter(({ field }) => cut.has(field))
    .map(({ field: _, uri, ...shown }) => ({
      type: 'resource_link',
      ...shown,
      uri: uri.replace('{storyId}', key),
    }));
}

/**
 * Lists the links for a result. `version` is the client's protocol revision. Older versions of a spec have no
 * resource, so they get no links.
 */
export const listResourceLinks = (
  answer: AnswerBody,
  args: AnswerBody,
  version: string | undefined,
): ContentBlock[] =>
  version === undefined || version < firstVersionWithLinks || typeof args['version'] === 'number'
    ? []
    : [answer, answer['context']].flatMap((place) => resourceLinksOf(place, args['storyId']));
