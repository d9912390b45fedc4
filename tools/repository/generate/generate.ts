// npm run generate: rewrites the files that are generated from the migrations, the contract, the tables of
// states and the version of the product. Run it after a change of any of them. It also records the answers of
// the contract's examples.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { repositoryRoot } from '@muster/tools';
import { answersFile, answersText } from './answers.ts';
import { versionFiles } from './version.ts';

const write = async (file: string, text: string): Promise<void> => {
  await writeFile(path.join(repositoryRoot, file), text);
  console.log(file);
};

// The version and the answers of the operations' examples are written first: other generated files contain the
// version, and the reference pages show the answers.
for (const [file, text] of await versionFiles()) await write(file, text);
console.log('Calling the examples of the contract. On a busy machine this takes minutes.');
await write(answersFile, await answersText());
console.log('Applying the migrations and generating the rest.');
const { generatedFiles } = await import('./generated.ts');
for (const [file, text] of await generatedFiles()) await write(file, text);
