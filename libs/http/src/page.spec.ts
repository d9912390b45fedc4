import { expect, it } from '@jest/globals';
import { html } from './html.ts';
import { createPageFrame } from './page.ts';

it('lets nothing run but the script of the page', () => {
  const frame = createPageFrame();
  const policyOf = (script?: string) =>
    frame({ title: 'A page', body: html``, script }).headers['content-security-policy'];
  expect(policyOf()).not.toContain('script-src');
  expect(policyOf('one()')).toMatch(/script-src 'sha256-[^']+'; connect-src 'self'/);
  expect(policyOf('one()')).not.toBe(policyOf('other()'));
  expect(policyOf()).not.toContain('unsafe');
});
