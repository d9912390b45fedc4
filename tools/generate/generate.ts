// npm run generate: writes anew what is generated from the migrations, the contract and the tables of states, after a
// change of any.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { repositoryRoot } from '../dev/repository.ts';
import { generatedFiles } from './generated.ts';

for (const [file, text] of await generatedFiles()) {
  await writeFile(path.join(repositoryRoot, file), text);
  console.log(file);
}
