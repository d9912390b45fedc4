import { describe, expect, it } from '@jest/globals';
import { archiveRecords, archiveRecordTypes } from './archive.ts';

describe('the records of an archive', () => {
  it('have a line of their own for each type, which names it', () => {
    for (const type of archiveRecordTypes) expect(archiveRecords[type].shape.type.value).toBe(type);
  });

  it('come after the records that they refer to', () => {
    const order = (type: (typeof archiveRecordTypes)[number]) => archiveRecordTypes.indexOf(type);
    expect(order('members')).toBeLessThan(order('projects'));
    expect(order('epics')).toBeLessThan(order('stories'));
    expect(order('stories')).toBeLessThan(order('specs'));
    expect(order('comments')).toBeLessThan(order('attachments'));
  });
});
