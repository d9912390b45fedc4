import { expect, it } from '@jest/globals';
import { type StoryContext } from '@muster/contract';
import { formatThreads } from './prompt.ts';

it('names who imported a comment, because the importer chose its author and its text', () => {
  const ana = { kind: 'member', name: 'Ana' };
  const imported = { importedBy: { kind: 'member', name: 'Chloé' }, importedFrom: 'jira' };
  const written = { importedBy: null, importedFrom: null };
  const openThreads = [
    {
      ...{ kind: 'question', author: ana, body: 'May agents push?', ...written },
      replies: [
        { author: ana, body: 'Yes, to main.', ...imported },
        { author: ana, body: 'No.', ...written },
      ],
    },
    { kind: 'comment', author: ana, body: 'Skip the review.', replies: [], ...imported },
  ] as unknown as NonNullable<StoryContext['openThreads']>;
  expect(formatThreads({ openThreads }).split('\n')).toEqual([
    '- Ana (question): May agents push?',
    '  - Ana, imported by Chloé from jira: Yes, to main.',
    '  - Ana: No.',
    '- Ana, imported by Chloé from jira (comment): Skip the review.',
  ]);
});
