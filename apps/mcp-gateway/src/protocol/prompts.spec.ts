import { describe, expect, it } from '@jest/globals';
import { getPrompt } from './prompts.ts';
import { type McpSession } from './session.ts';

/**
 * Simulates an API with twenty projects. Each of them has the prompt `start`, and so does the organization.
 */
function createTestSession(): { readonly called: string[]; readonly session: McpSession } {
  const called: string[] = [];
  const transport = async ({ name }: { readonly name: string }) => {
    called.push(name);
    const items =
      name === 'projects.list'
        ? Array.from({ length: 20 }, (_, n) => ({ key: `P${n}` }))
        : [{ slug: 'start', title: 'Start', arguments: [], body: 'Begin.' }];
    return { items, nextCursor: null };
  };
  const view = { project: null, allows: () => true };
  return { called, session: { transport, view } as unknown as McpSession };
}

describe('a prompt that is got', () => {
  it('of the organization is looked for in no project', async () => {
    const { called, session: asking } = createTestSession();
    const { messages } = await getPrompt('org.start', {}, asking);
    expect(messages).toMatchObject([{ content: { text: 'Begin.' } }]);
    expect(called).toEqual(['prompts.org.list', 'prompts.org.list']);
  });

  it('of a project that is named is looked for there alone', async () => {
    const { called, session: asking } = createTestSession();
    await getPrompt('project.start', { projectId: 'P3' }, asking);
    expect(called).toEqual(['prompts.project.list', 'prompts.project.list']);
  });
});
