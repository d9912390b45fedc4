/** Adds resource links to a result in which a story or spec was cut. The linked resource is complete. */
import { type ContentBlock } from '@modelcontextprotocol/server';
import { type AnswerBody, type ShortenedParts } from '../answers/answers.ts';
import { specUri, storyUri } from './uris.ts';

/** The first revision with resource links. Older clients reject a result with an unknown kind of content. */
const firstWithLinks = '2025-06-18';

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as AnswerBody)[name] : undefined;

/** Lists the fields that were shortened, from `cut` as well as `truncated`. */
function cutFields(place: unknown): ReadonlySet<string> {
  const { parts = [] } = (fieldOf(place, 'cut') ?? {}) as Partial<ShortenedParts>;
  const truncated = fieldOf(place, 'truncated');
  const sections: readonly unknown[] = Array.isArray(truncated) ? truncated : [];
  return new Set([...parts.map(({ path }) => path.split('.')[0]), ...sections].map(String));
}

function linksOf(place: unknown, asked: unknown): ContentBlock[] {
  // Prefer the record's own key to the id or key that the call used.
  const key = fieldOf(fieldOf(place, 'story'), 'key') ?? asked;
  if (typeof key !== 'string') return [];
  const cut = cutFields(place);
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
export const linksIn = (answer: AnswerBody, args: AnswerBody, version: string | undefined): ContentBlock[] =>
  version === undefined || version < firstWithLinks || typeof args['version'] === 'number'
    ? []
    : [answer, answer['context']].flatMap((place) => linksOf(place, args['storyId']));
