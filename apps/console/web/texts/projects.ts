/** What the page of a new project says, in English: loaded with it. */

export const n = {
  intro: 'A board for one piece of work, with columns from Backlog to Done. You are its lead.',
  name: 'Name',
  nameHint: 'What people call it, such as Web shop',
  key: 'Key',
  keyHint: (key: string) => `Its stories are called ${key}-1, ${key}-2 … It cannot be changed later.`,
  keyRule: '2 to 10 of A to Z and 0 to 9, the first a letter',
  keyTaken: (key: string) => `Another project has the key ${key}. Choose another one.`,
  description: 'Description',
  optional: 'If you like',
  visibility: 'Who may see it',
  visibilities: { org: 'Everyone in the organization', private: 'Only those who have a role in it' },
  make: 'Make the project',
  failed: 'The project could not be made',
  made: (name: string) => `${name} is made`,
};
