import { describe, expect, it } from '@jest/globals';
import { read } from '../../test/reading.ts';

describe('rows of any CSV', () => {
  it('are read by what their columns are called, with whatever stands between cells', async () => {
    const comma =
      '\ufeffSummary,Tags,Status,Story Points,Body,Reporter,Priority\n"In, and","a; b",To Do,"2,5","Two\nlines",Ana,asap\n';
    const expected = {
      ...{ title: 'In, and', labels: ['a', 'b'], status: 'ready', estimate: 2.5, description: 'Two\nlines' },
    };
    const first = await read('csv', comma);
    expect(first.items).toMatchObject([expected]);
    expect(first.unimportedFields).toEqual({ 'column Reporter': ['line 3'], 'priority "asap"': ['line 3'] });
    for (const between of [';', '\t']) {
      const cells = ['"In, and"', '"a, b"', 'To Do', '2.5', '"Two\r\nlines"', 'Ana', 'high'];
      const text = `Summary;Tags;Status;Story Points;Body;Reporter;Priority\r\n${cells.join(';')}\r\n`;
      expect((await read('csv', text.replaceAll(';', between))).items).toMatchObject([expected]);
    }
  });

  it('have parents where they have ids, and due dates', async () => {
    const rows = 'Title,Parent,Due Date\nOne,,\nTwo,1,2027-05-01\n';
    const withIds = await read(
      'csv',
      rows.replace('Title', 'Id,Title').replace('One', '1,One').replace('Two', '2,Two'),
    );
    expect(withIds.item('csv:2')).toMatchObject({ parent: 'csv:1', dueDate: '2027-05-01' });
    expect(withIds.item('csv:1')).not.toHaveProperty('parent');
    expect((await read('csv', rows)).unimportedFields).toEqual({ 'column Parent': ['line 3'] });
  });

  it('are read with the delimiter that Excel names in a line of its own', async () => {
    for (const start of ['sep=;\r\n', '\ufeffSEP=;\n'])
      expect((await read('csv', `${start}Title;Tags, all\nOne;x\n`)).items).toMatchObject([{ title: 'One' }]);
  });

  it('have their line also after cells with line breaks of Windows', async () => {
    const lines = 'Title,Body,Who\r\nOne,"a\r\nb\r\nc",x\r\n\r\nTwo,"d\r\ne",x\r\nThree,,x\r\n';
    const { unimportedFields: leftOut } = await read('csv', lines);
    expect(leftOut).toEqual({ 'column Who': ['line 4', 'line 7', 'line 8'] });
  });

  it('have numbers in the notation of their language, which the delimiter tells', async () => {
    const estimates = async (text: string) => (await read('csv', text)).items.map(({ estimate }) => estimate);
    expect(await estimates('Title;Estimate\na;1.000\nb;1.000,5\nc;2,5\nd;1,000\ne;1.5\n')).toEqual([
      ...[1000, 1000.5, 2.5, 1, 1.5],
    ]);
    expect(await estimates('Title,Estimate\na,"1,000"\nb,"1,000.5"\nc,"2,5"\nd,1.000\n')).toEqual([
      ...[1000, 1000.5, 2.5, 1],
    ]);
  });

  it('are known by their id whatever the file is called, and kept apart by a source', async () => {
    const ids = async (text: string, source?: string) =>
      (await read('csv', text, {}, { sourceName: source })).items.map(({ externalId }) => externalId);
    expect(await ids('id,title\n17,One\nOPS-1,Two\n')).toEqual(['csv:17', 'csv:OPS-1']);
    expect(await ids('id,title\n17,One\n', 'old')).toEqual(['csv:old:17']);
  });

  it('without an id are known by what they say, wherever they stand; equal rows are several', async () => {
    const ids = async (text: string) => (await read('csv', text)).items.map(({ externalId }) => externalId);
    const [same, again] = await ids('title\nSame\nSame\n');
    expect(new Set([same, again, undefined]).size).toBe(3);
    expect((await ids('title\nNew\nSame\n\nSame\n')).slice(1)).toEqual([same, again]);
  });

  it('that cannot be stories are named by their line', async () => {
    const { survey } = await read('csv', 'id,title\n1,One\n2,\n1,Again\n');
    expect(survey.items).toBe(1);
    expect(survey.refused).toEqual([
      { place: 'line 3', why: 'title: must not be empty' },
      { place: 'line 4', why: 'an earlier item has the same id' },
    ]);
  });

  it('need a title, and quotes that end', async () => {
    await expect(read('csv', 'a,b\n1,2\n')).rejects.toThrow(
      'no column contains the story titles (columns: a, b)',
    );
    await expect(read('csv', 'title\n"open\n')).rejects.toThrow(
      'the file is not valid CSV: Quote Not Closed',
    );
    const map = new Map([['title', 'What']]);
    expect((await read('csv', 'What\nOne\n', {}, { columnMapping: map })).items).toMatchObject([
      { title: 'One' },
    ]);
    await expect(read('csv', 'title\nOne\n', {}, { columnMapping: map })).rejects.toThrow(
      'there is no column "What"',
    );
  });

  it('leave a column out that is said to be none, and say what they lack', async () => {
    const map = new Map([['status', '']]);
    const { items, unimportedFields: leftOut } = await read(
      'csv',
      'title,status\nOne,Done\n',
      {},
      { columnMapping: map },
    );
    expect(items[0]).not.toHaveProperty('status');
    expect(leftOut).toEqual({ 'column status': ['line 2'] });
    await expect(read('csv', 'a\n1\n')).rejects.toMatchObject({ lack: 'columns' });
    await expect(read('csv', 'title,created\nOne,03/04/2024\n')).rejects.toMatchObject({ lack: 'dates' });
  });
});
