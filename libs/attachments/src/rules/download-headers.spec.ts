import { describe, expect, it } from '@jest/globals';
import { downloadHeaders } from './download-headers.ts';

const headersOf = (name: string, contentType: string) =>
  downloadHeaders({ name, content_type: contentType, size: 1 });

describe('the headers of a download', () => {
  it.each(['image/png', 'image/webp', 'video/mp4'])('show %s in the page', (type) => {
    const headers = headersOf('a.bin', type);
    expect(headers['content-type']).toBe(type);
    expect(headers['content-disposition']).toMatch(/^inline;/);
  });

  it.each([
    'image/svg+xml',
    'text/html',
    'application/xhtml+xml',
    'application/pdf',
    'text/xml',
    'text/javascript',
  ])('download %s as bytes', (type) => {
    const headers = headersOf('a.html', type);
    expect(headers['content-type']).toBe('application/octet-stream');
    expect(headers['content-disposition']).toMatch(/^attachment;/);
  });

  it('never let a file run, whatever its type', () => {
    for (const type of ['image/png', 'text/html'])
      expect(headersOf('a', type)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringContaining('sandbox'),
      });
  });

  it('quote hostile names', () => {
    const { 'content-disposition': disposition } = headersOf(
      'a"; filename=b.exe\\ é\u202e(1).png',
      'image/png',
    );
    expect(disposition).toBe(
      `inline; filename="a_; filename=b.exe_ __(1).png"; filename*=UTF-8''a%22%3B%20filename%3Db.exe%5C%20%C3%A9%E2%80%AE%281%29.png`,
    );
  });
});
