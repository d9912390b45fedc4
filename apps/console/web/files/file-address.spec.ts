import { describe, expect, it } from '@jest/globals';
import { fileMarkdown, parseFileAddress } from './file-address.ts';

const id = '01936d5c-0000-7000-8000-000000000001';

describe('the Markdown of an attachment', () => {
  it('shows an image, and links to any other file', () => {
    expect(fileMarkdown({ id, name: 'a.png', contentType: 'image/png' })).toBe(
      `![a.png](/console/files/${id})`,
    );
    expect(fileMarkdown({ id, name: 'a.svg', contentType: 'image/svg+xml' })).toBe(
      `[a.svg](/console/files/${id})`,
    );
  });

  it('escapes a name that contains Markdown', () => {
    expect(fileMarkdown({ id, name: 'a](https://evil.example)[_b_.txt', contentType: 'text/plain' })).toBe(
      String.raw`[a\](https://evil.example)\[\_b\_.txt](/console/files/${id})`,
    );
  });
});

describe('the address of an attachment', () => {
  it('is found only in an address of the console', () => {
    expect(parseFileAddress(`/console/files/${id}`)).toBe(id);
    for (const other of [
      `https://evil.example/console/files/${id}`,
      `/console/files/${id}/x`,
      `/files/${id}`,
      '',
    ])
      expect(parseFileAddress(other)).toBeUndefined();
  });
});
