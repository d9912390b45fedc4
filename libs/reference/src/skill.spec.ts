import { describe, expect, it } from '@jest/globals';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { instructionsSection, skillFrontmatter, skillText } from './skill.ts';

const tokensOf = (text: string): number => new Tiktoken(o200k).encode(text).length;

describe('the skill', () => {
  it('costs a model at most 1,500 tokens, and its section at most 250', () => {
    expect(tokensOf(skillText)).toBeLessThanOrEqual(1_500);
    expect(tokensOf(instructionsSection)).toBeLessThanOrEqual(250);
  });

  it('has the frontmatter of the Agent Skills specification', () => {
    const [, frontmatter = ''] = /^---\n([^]*?)\n---\n/.exec(skillText) ?? [];
    const { name, description } = skillFrontmatter;
    expect(frontmatter).toBe(`name: ${name}\ndescription: ${description}`);
    // Neither value has characters that would need quotes in YAML.
    expect(description).not.toMatch(/: |\s#|^["'&*!|>%@`[{-]/);
    expect(name).toMatch(/^[a-z][a-z0-9-]{0,63}$/);
    expect(description.length).toBeLessThanOrEqual(1_024);
  });
});
