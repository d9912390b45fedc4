import { expect, it } from '@jest/globals';
import { type FileFormat } from './open.ts';
import { recognizeFormat } from './recognize.ts';

const recognize = (text: string) =>
  recognizeFormat(async function* whole() {
    await Promise.resolve();
    yield text;
  });

it.each<[FileFormat | undefined, unknown]>([
  ['muster', { name: 'Board', epics: [], stories: [{ localId: 'a', title: 'x', status: 'ready' }] }],
  ['trello', { name: 'Board', lists: [], cards: [] }],
  ['linear', { data: { issues: { nodes: [] } } }],
  ['linear', [{ identifier: 'ENG-1', title: 'x', state: { name: 'Todo' } }]],
  ['linear', { issues: [{ identifier: 'ENG-1', title: 'x' }] }],
  ['jira', { issues: [{ key: 'WEB-1', fields: {} }] }],
  ['jira', [{ issues: [{ key: 'WEB-1', fields: {} }] }]],
  ['github', [{ number: 1, title: 'x', body: '' }]],
  ['github', [[{ number: 1, title: 'x' }]]],
  ['github', { items: [{ content: { title: 'x' }, status: 'Todo' }] }],
  ['plane', [{ ID: 'WEB-1', Name: 'x', State: 'Todo' }]],
  ['plane', { results: [{ name: 'x', sequence_id: 1 }] }],
  [undefined, { anything: 1 }],
])('recognizes JSON of %s', async (format, json) => {
  expect(await recognize(JSON.stringify(json))).toBe(format);
});

it.each<[FileFormat, string]>([
  ['jira', 'Summary,Issue key,Issue Type,Status\n'],
  ['linear', 'ID,Team,Title,Description,Status\n'],
  ['plane', 'Sequence ID,Name,State Name\n'],
  ['csv', 'Id,Title,Status\n'],
  ['csv', 'What;Created\n'],
])('recognizes a table of %s', async (format, text) => {
  expect(await recognize(`${text}a,b,c\n`)).toBe(format);
});
