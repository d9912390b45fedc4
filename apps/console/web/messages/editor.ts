/** English texts of the editor, loaded with it. */

export const editorTexts = {
  toolbar: 'Formatting',
  preview: 'Preview',
  nothingToPreview: 'Nothing to preview yet.',
  suggestions: 'Suggestions',
  template: 'Template',
  prompt: 'Prompt',
  notInserted: 'The prompt could not be inserted',
  tooLong: (length: number, maxLength: number) =>
    `Too long: ${length.toLocaleString()} of at most ${maxLength.toLocaleString()} characters.`,
  formats: {
    bold: 'Bold',
    italic: 'Italic',
    code: 'Code',
    link: 'Link',
    heading: 'Heading',
    list: 'List',
    tasks: 'Task list',
    quote: 'Quote',
  },
  attach: 'Attach files',
};

/** Templates that every project has. Their texts are Markdown. */
export const builtInTemplates: readonly {
  readonly slug: string;
  readonly title: string;
  readonly text: string;
}[] = [
  {
    slug: 'bug-report',
    title: 'Bug report',
    text: `## Steps to reproduce

1. 

## Expected result

## Actual result

## Environment
`,
  },
  {
    slug: 'acceptance-criteria',
    title: 'Acceptance criteria',
    text: `## Acceptance criteria

- [ ] 
`,
  },
  {
    slug: 'spec',
    title: 'Spec outline',
    text: `## Problem

## Solution

## Out of scope

## Acceptance criteria

- [ ] 
`,
  },
];
