/** English texts of the page for a new project, loaded with it. */

export const texts = {
  intro: 'A project has a board with columns from Backlog to Done. You will be its lead.',
  name: 'Name',
  nameTaken: (key: string) => `${key} has the same name.`,
  nameHint: 'For example, Web shop',
  key: 'Key',
  keyHint: (key: string) => `Stories will be named ${key}-1, ${key}-2 … You can’t change the key later.`,
  keyRule: '2 to 10 characters, A–Z and 0–9, starting with a letter',
  keyTaken: (key: string) => `Another project has the key ${key}. Choose another one.`,
  description: 'Description',
  optional: 'Optional',
  visibility: 'Visibility',
  visibilities: { org: 'Everyone in the organization', private: 'Only people with a role in it' },
  make: 'Create project',
  failed: 'The project could not be created',
  made: (name: string) => `${name} was created`,
};
