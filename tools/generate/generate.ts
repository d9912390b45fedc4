// npm run generate: writes anew what is generated from the migrations, the contract and the tables of states, and the
// version of the product, after a change of any; and keeps what the contract's examples answer.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { repositoryRoot } from '@muster/tools';
import { answersFile, answersText } from './answers.ts';
import { versionFiles } from './version.ts';

const write = async (file: string, text: string): Promise<void> => {
  await writeFile(path.join(repositoryRoot, file), text);
  console.log(file);
};

// What else is generated says the version too, and the pages of the reference show the answers.
for (const [file, text] of await versionFiles()) await write(file, text);
console.log('Calling the examples of the contract. On a busy machine this takes minutes.');
await write(answersFile, await answersText());
console.log('Applying the migrations and generating the rest.');
const { generatedFiles } = await import('./generated.ts');
for (const [file, text] of await generatedFiles()) await write(file, text);
