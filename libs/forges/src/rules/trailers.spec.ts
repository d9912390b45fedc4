import { describe, expect, it } from '@jest/globals';
import { splitWords } from './fact.ts';
import { collectsOtherWork, isMergeQueueBranch, trailersOfCommits, trailersOfPull } from './trailers.ts';

const id = '01936d5c-0000-7000-8000-000000000090';
const line = `Muster-Execution: ${id}`;

describe('a commit message', () => {
  it.each([
    ['in the last paragraph', `Land\n\n${line}`],
    ['behind a body', `Land\n\nWhy.\n\n${line}\n`],
    ['with the line ends of Windows', `Land\r\n\r\n${line}\r\n`],
    ['among other trailers', `Land\n\nCo-authored-by: A <a@example.com>\n${line}\nReviewed-by: B`],
    ['in any case', `Land\n\nmuster-execution: ${id.toUpperCase()}`],
    ['folded', `Land\n\nMuster-Execution:\n ${id}`],
    ['with a blank before the colon', `Land\n\nMuster-Execution : ${id}`],
    [
      'beside text in a block that git signed',
      `Land\n\nSee there\n${line}\nSigned-off-by: A <a@example.com>`,
    ],
    ['before comments', `Land\n\n${line}\n# of the editor`],
  ])('names an execution %s', (_where, message) => {
    expect(trailersOfCommits([message])).toEqual([id]);
  });

  it.each([
    ['as its title', line],
    ['in its title’s paragraph', `Land\n${line}`],
    ['before other text', `Land\n\n${line}\n\nMore.`],
    ['within a paragraph of text', `Land\n\nWe write\n${line}`],
    ['indented', `Land\n\n    ${line}`],
    ['indented below a trailer', `Land\n\nRefs: #1\n ${line}`],
    ['quoted', `Land\n\n> ${line}`],
    ['in a fence', `Land\n\n\`\`\`\n${line}\n\`\`\``],
    ['with more than the id', `Land\n\n${line} and more`],
    ['in a commit that was picked', `Land\n\n${line}\n(cherry picked from commit ${'a'.repeat(40)})`],
    ['in a revert', `Revert "Land"\n\n${line}`],
  ])('names none %s', (_where, message) => {
    expect(trailersOfCommits([message])).toEqual([]);
  });

  it('names at most ten, each once', () => {
    const ids = Array.from({ length: 12 }, (_, index) => id.slice(0, -2) + String(index + 10));
    const messages = [...ids, ...ids].map((one) => `Land\n\nMuster-Execution: ${one}`);
    expect(trailersOfCommits(messages)).toEqual(ids.slice(0, 10));
  });
});

describe('the text of a pull request', () => {
  it.each([
    ['as all of it', line],
    ['as the last paragraph', `Why.\n\n${line}\n\n`],
    ['with the line ends of Windows', `Why.\r\n\r\n${line}\r\n`],
    ['among other trailers', `Why.\n\nCloses: #1\n${line}`],
    ['behind a fence that is closed', `\`\`\`sh\nnpm test\n\`\`\`\n\n${line}`],
    ['behind a quote', `> Why?\n\n${line}`],
    ['before a comment of the template', `${line}\n\n<!-- Describe\n\nyour change -->`],
    ['behind the mark of a comment in code', `Drop \`<!--\` here.\n\n${line}`],
    ['behind an element in code', `Drop \`\` \`<pre>\` \`\` and \`<details>\`.\n\n${line}`],
    ['behind a comment in a fence', `\`\`\`html\n<!-- <pre>\n\`\`\`\n\n${line}`],
    ['behind a fence in a comment', `<!-- \`\`\`\n-->\n\n${line}`],
    ['behind a fence that ends with its quote', `> \`\`\`\n> npm test\n\n${line}`],
    ['behind details that are closed', `<details>\n\nlong\n\n</details>\n\n${line}`],
  ])('names an execution %s', (_where, text) => {
    expect(trailersOfPull(text)).toEqual([id]);
  });

  it.each([
    ['in a fence', `\`\`\`\n${line}\n\`\`\``],
    ['in a fence of tildes', `~~~\n\n${line}\n\n~~~`],
    ['in a fence that is open', `\`\`\`\n\n${line}`],
    ['in a fence that a shorter one does not close', `\`\`\`\`\n\`\`\`\n\n${line}`],
    ['indented', `Why.\n\n    ${line}`],
    ['behind a tab', `\t${line}`],
    ['in a comment', `<!--\n${line}\n-->`],
    ['in a comment of many paragraphs', `<!--\n\n${line}\n\n-->`],
    ['in a comment that is open', `<!-- as in\n\n${line}`],
    ['behind a comment before code', `<!-- \`x\` as in\n\n${line}`],
    ['behind a comment after code', `Drop \`x\` <!-- as in \`\n\n${line}`],
    ['behind a mark that no code holds', `Drop \`\`<!--\` here.\n\n${line}`],
    ['in a fence within a quote', `> \`\`\`\n> a\n>\n> ${line}`],
    ['quoted', `> ${line}`],
    ['in a list', `- ${line}`],
    ['in code within a line', `\`${line}\``],
    ['within a paragraph', `Write\n${line}`],
    ['before other text', `${line}\n\nMore.`],
    ['in an element that is open', `<pre>\n\n${line}`],
  ])('names none %s', (_where, text) => {
    expect(trailersOfPull(text)).toEqual([]);
  });

  it('of 5 MB is read in time that grows with its length', () => {
    for (const part of ['<!--', '<!-- -->', '`', '`` `', '<pre', '```\n', ' \n', `${line}\n`, `a: b\n`, ' '])
      expect(trailersOfPull(part.repeat(5_000_000 / part.length)).length).toBeLessThan(2);
  });

  it('counts beside the messages of its commits', () => {
    expect(trailersOfPull(null, [`Land\n\n${line}`, null])).toEqual([id]);
  });
});

it('knows the branches of merge queues, and those that collect, repeat or take back work', () => {
  const queues = [
    'gh-readonly-queue/main/pr-7-abc',
    'mergify/merge-queue/1a',
    'gtmq_1',
    'trunk-merge/pr-1/x',
    'mq-bot-7',
  ];
  const others = [
    ...splitWords(
      'release/1 release/next release-2026 release-v1.2 backport/7-to-1.x backport-7 revert-7-topic',
    ),
    ...splitWords(
      'revert-1a2b3c4d cherry-pick-abcdef12 cherry-pick-abcdef12-topic 1.x v2.3.1 staging Develop',
    ),
  ];
  const own = [
    ...splitWords('topic muster/web-1-e1-release fix-1 releases feature/revert-button 42 v2 release-notes'),
    ...splitWords(
      'revert-button revert-defaced cherry-pick-ui releases-list backport-docs develop-api staging-2',
    ),
  ];
  expect([...queues, ...others, ...own].filter(isMergeQueueBranch)).toEqual(queues);
  expect([...queues, ...others, ...own].filter(collectsOtherWork)).toEqual(others);
});
