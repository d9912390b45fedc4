/** Attaching a text with one tool call. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { createBoard, useGateway } from './gateway.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'muster-mcp-files-'));
const gateway = useGateway({}, { FILES_FOLDER: folder, BASE_URL: 'https://muster.example.com/under' });
afterAll(() => rm(folder, { recursive: true, force: true }));

const report = '<testsuite><testcase name="signs in"/></testsuite>';
const file = { targetId: 'WEB-1', name: 'junit.xml', text: report, kind: 'test_report' };

describe('attach_text', () => {
  it('attaches a file that is complete after one call', async () => {
    const { ana, api } = await createBoard(gateway);
    const answer = await gateway.tool(ana.me.token, 'attach_text', file);
    expect(answer.structuredContent).toMatchObject({
      attachment: { name: 'junit.xml', kind: 'test_report', size: report.length },
    });
    const { items } = await api.attachments.list({ targetType: 'story', targetId: 'WEB-1' });
    expect(items).toMatchObject([{ state: 'stored', contentType: 'text/plain', report: { tests: 1 } }]);
  });

  it('refuses a text of more than 64 KiB, and callers who may not write', async () => {
    const { ana, dan, api } = await createBoard(gateway);
    const big = await gateway.tool(ana.me.token, 'attach_text', { ...file, text: 'é'.repeat(33_000) });
    expect(big).toMatchObject({ isError: true, structuredContent: { error: { status: 400 } } });
    const viewer = await gateway.tool(dan.me.token, 'attach_text', file);
    expect(viewer).toMatchObject({ isError: true, structuredContent: { error: { status: 403 } } });
    const readonly = await gateway.rpc(
      ana.me.token,
      'tools/call',
      { name: 'attach_text', arguments: file },
      { query: '?readonly=1' },
    );
    expect(readonly.body.error?.message).toMatch(/not available, because this connection is restricted/);
    expect((await api.attachments.list({ targetType: 'story', targetId: 'WEB-1' })).items).toEqual([]);
  });
});
