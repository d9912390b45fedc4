/** Resources that an answer leads to: the story or spec that lost its end in it is whole there. */
import { type ContentBlock } from '@modelcontextprotocol/server';
import { type Answer, type Cut } from '../answers/answers.ts';
import { specUri, storyUri } from './uris.ts';

/** Older clients refuse a whole answer for a kind of content that they do not know. */
const firstWithLinks = '2025-06-18';

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Answer)[name] : undefined;

/** Names of its fields that are not whole, by whichever word it says so. */
function cutFields(place: unknown): ReadonlySet<string> {
  const { parts = [] } = (fieldOf(place, 'cut') ?? {}) as Partial<Cut>;
  const truncated = fieldOf(place, 'truncated');
  const sections: readonly unknown[] = Array.isArray(truncated) ? truncated : [];
  return new Set([...parts.map(({ path }) => path.split('.')[0]), ...sections].map(String));
}

function linksOf(place: unknown, asked: unknown): ContentBlock[] {
  // A record's own key, else what the call named it by.
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

/** `version` is the revision that the client speaks; of an older version of a spec there is no resource. */
export const linksIn = (answer: Answer, args: Answer, version: string | undefined): ContentBlock[] =>
  version === undefined || version < firstWithLinks || typeof args['version'] === 'number'
    ? []
    : [answer, answer['context']].flatMap((place) => linksOf(place, args['storyId']));
