import { describe, expect, it } from '@jest/globals';
import {
  type ContextSection,
  type ContextSections,
  contextSections,
  minContextBytes,
  maxContextBytes,
  Policy,
  StoryContext,
} from '@muster/contract';
import fc from 'fast-check';
import { contextCuts } from './context-cuts.ts';
import { jsonByteLength, fitSectionsToBytes } from './fit-bytes.ts';

const id = '01936d5c-0000-7000-8000-000000000001';
const fixedTime = '2026-11-21T09:30:00.000Z';
const actor = { kind: 'member' as const, memberId: id, agentId: null, name: 'Ana' };
const fixedTimestamps = { createdAt: fixedTime, updatedAt: fixedTime, version: 1 };

const comment = (body: string, parentId: string | null) => ({
  ...{
    id,
    storyId: id,
    parentId,
    kind: 'comment' as const,
    body,
    author: actor,
    directedTo: null,
    mentions: [],
  },
  ...{ importedBy: null, importedFrom: null },
  ...{
    via: null,
    options: [],
    anchor: null,
    codeAnchor: null,
    resolvedAt: null,
    resolvedBy: null,
    editedAt: null,
    deletedAt: null,
    ...fixedTimestamps,
  },
});
const thread = ([body = '', ...replies]: readonly string[]) => ({
  ...comment(body, null),
  replies: replies.map((reply) => comment(reply, id)),
});
const story = (description: string): NonNullable<ContextSections['story']> => ({
  ...{
    id,
    key: 'WEB-1',
    number: 1,
    projectId: id,
    title: 'Story',
    description,
    status: 'ready',
    columnId: id,
  },
  ...{ rank: 'a', epicId: id, priority: 'none', labels: [], estimate: null, blockedBy: [], blocked: null },
  ...{ parentId: null, dueDate: null, touches: [] },
  ...{ specVersion: 1, git: null, upstream: null, createdBy: actor, completedAt: null, ...fixedTimestamps },
  ...{ importedBy: null, importedFrom: null },
});
const spec = (content: string) => ({
  ...{ storyId: id, version: 1, contentHash: null, author: actor, note: null, createdAt: fixedTime, content },
  ...{ importedBy: null, importedFrom: null },
});
const prompt = (body: string): NonNullable<ContextSections['prompts']>[number] => ({
  ...{
    id,
    scope: 'org',
    projectId: null,
    slug: 'start',
    title: 'Start',
    body,
    bodyBytes: 1,
    arguments: [],
    tags: [],
  },
  ...{ createdBy: actor, updatedBy: actor, ...fixedTimestamps },
  importedBy: null,
  importedFrom: null,
});
const contract = (content: string): NonNullable<ContextSections['contracts']>[number] => ({
  ...{ id, projectId: id, slug: 'api', version: 1, kind: 'markdown', content, contentHash: 'x', size: 1 },
  ...{ storyId: null, note: null, publishedBy: actor, createdAt: fixedTime },
  importedBy: null,
  importedFrom: null,
});
const reviewer = (note: string): NonNullable<ContextSections['reviewers']>[number] => ({
  ...{
    id,
    storyId: id,
    storyKey: 'WEB-1',
    underReview: { specVersion: 1, headSha: null, diffHash: null },
    storyTitle: 'Story',
    projectId: id,
    verdict: 'approved',
    stale: false,
  },
  ...{ reviewer: { kind: 'member', id, name: 'Ana', memberId: id, agentId: null }, note },
  ...{ specVersion: 1, headSha: null, diffHash: null, decidedAt: fixedTime, ...fixedTimestamps },
  ...{ importedBy: null, importedFrom: null },
});
const activity = (word: string) => ({
  ...{ id, kind: 'story.updated', actor, projectId: id, data: { word }, at: fixedTime },
  subject: { type: 'story', id, key: 'WEB-1', title: 'Story' },
});
const blocker = (title: string) => ({ id, key: 'WEB-2', title, status: 'ready' as const });

/** Returns a context with every section full of its own texts. */
const contextOf = (text: (section: string) => string, count: number): ContextSections => {
  const many = <Item>(section: string, make: (word: string) => Item): Item[] =>
    Array.from({ length: count }, () => make(text(section)));
  return {
    story: story(text('story')),
    epic: {
      ...{ id, projectId: id, title: 'Epic', description: text('epic'), color: null, targetDate: null },
      ...{ status: 'open', progress: { total: 1, done: 0 }, ...fixedTimestamps },
    },
    spec: spec(text('spec')),
    openThreads: many('openThreads', (word) => thread([word, word, word])),
    rework: {
      ...{ note: text('rework'), by: actor, at: fixedTime, source: 'muster', specVersion: 1, headSha: null },
      openThreads: many('rework', (word) => thread([word, word, word])),
    },
    reviewers: many('reviewers', reviewer),
    assignment: {
      ...{ targetType: 'story', targetId: id, targetKey: 'WEB-1', targetTitle: 'Story', projectId: id },
      ...{ member: null, agent: null, assignedBy: null, createdAt: null, updatedAt: null },
    },
    execution: null,
    deliveryGroup: null,
    locks: [],
    collisions: many('collisions', (path) => ({ path, kind: 'lock', id, storyId: null, holder: null })),
    touches: { outside: many('touches', String), untouched: [], suggested: [] },
    prompts: many('prompts', prompt),
    contracts: many('contracts', contract),
    policy: { ...Policy.parse({}), version: 1 },
    recentActivity: many('recentActivity', activity),
    others: many('others', (name) => ({ member: { id, name, handle: 'ana' }, since: fixedTime })),
    readiness: { canStart: false, reasons: ['blocked_by'], openBlockers: many('readiness', blocker) },
  };
};

const texts = fc.string({ unit: 'binary', maxLength: 400 });
const contexts = fc
  .record({ words: fc.array(texts, { minLength: 1, maxLength: 30 }), count: fc.integer({ min: 0, max: 12 }) })
  .map(({ words, count }) => {
    let next = 0;
    return contextOf(() => words[(next += 1) % words.length] ?? '', count);
  });

describe('a context', () => {
  it('always fits, names each section that is not whole and no other, and is cut in one way', () => {
    fc.assert(
      fc.property(contexts, fc.integer({ min: minContextBytes, max: 64 * 1024 }), (whole, maxBytes) => {
        const { sections, truncated } = fitSectionsToBytes(whole, [], contextCuts, maxBytes);
        expect(jsonByteLength({ ...sections, truncated })).toBeLessThanOrEqual(maxBytes);
        const changed = contextSections.filter((name) => sections[name] !== whole[name]);
        expect(truncated).toEqual(changed);
        for (const name of changed)
          expect(jsonByteLength(sections[name])).toBeLessThan(jsonByteLength(whole[name]));
        expect(StoryContext.parse({ ...sections, truncated })).toEqual({ ...sections, truncated });
        if (jsonByteLength({ ...whole, truncated: [] }) <= maxBytes) expect(truncated).toEqual([]);
        expect(fitSectionsToBytes(whole, [], contextCuts, maxBytes)).toEqual({ sections, truncated });
      }),
      { numRuns: 100 },
    );
  });

  it('is not cut where it fits to the byte, and is where it is one byte too large', () => {
    const whole = contextOf((section) => section, 3);
    const exactly = jsonByteLength({ ...whole, truncated: [] });
    expect(fitSectionsToBytes(whole, [], contextCuts, exactly).truncated).toEqual([]);
    expect(fitSectionsToBytes(whole, [], contextCuts, exactly - 1).truncated).toEqual(['recentActivity']);
  });

  it('fits into the least room whatever is in it, and so does the largest', () => {
    const huge = contextOf(() => '😀"\u0001'.repeat(8_000), 8);
    const { sections, truncated } = fitSectionsToBytes(huge, [], contextCuts, minContextBytes);
    expect(jsonByteLength({ ...sections, truncated })).toBeLessThanOrEqual(minContextBytes);
    expect(jsonByteLength(huge)).toBeGreaterThan(maxContextBytes);
    expect(fitSectionsToBytes(huge, contextSections, contextCuts, maxContextBytes).truncated).toEqual(
      contextSections,
    );
  });

  it('loses the least needed first: what the spec loses, everything before it has lost already', () => {
    const whole = contextOf((section) => section.repeat(20), 4);
    const sizeOf = (maxBytes: number) => fitSectionsToBytes(whole, [], contextCuts, maxBytes).sections;
    const firstCut = new Map<ContextSection, number>();
    for (let maxBytes = jsonByteLength(whole) + 20; maxBytes > minContextBytes; maxBytes -= 50) {
      const sections = sizeOf(maxBytes);
      for (const name of contextSections) {
        if (sections[name] !== whole[name] && !firstCut.has(name)) firstCut.set(name, maxBytes);
      }
    }
    const order = [...firstCut.keys()];
    expect(order.slice(0, 9)).toEqual([
      ...[
        'recentActivity',
        'others',
        'contracts',
        'prompts',
        'openThreads',
        'rework',
        'epic',
        'story',
        'spec',
      ],
    ]);
  });

  it('keeps the newest threads, and of a thread that is cut the newest replies', () => {
    const empty = Object.fromEntries(contextSections.map((name) => [name, null])) as ContextSections;
    const long = 'x'.repeat(1_000);
    const newest = thread(['root', long, 'last']);
    const whole = { ...empty, openThreads: [thread([long, long]), newest] };
    const { sections, truncated } = fitSectionsToBytes(whole, [], contextCuts, minContextBytes);
    expect(truncated).toEqual(['openThreads']);
    expect(sections.openThreads).toEqual([newest]);
    const less = { ...empty, openThreads: [thread(['root', long, long, long, long, 'last'])] };
    const [kept] = fitSectionsToBytes(less, [], contextCuts, minContextBytes).sections.openThreads ?? [];
    expect([kept?.body, kept?.replies.at(-1)?.body]).toEqual(['root', 'last']);
    expect(kept?.replies.length).toBeLessThan(5);
  });
});
