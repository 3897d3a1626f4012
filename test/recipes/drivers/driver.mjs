// Calls the functions of a JavaScript recipe, as requested by lines of JSON.
import { createInterface } from 'node:readline';

const recipe = await import(process.argv[2] ?? './recipe.mjs');

async function perform({ call, args }) {
  try {
    return { result: await recipe[call](...args) };
  } catch (error) {
    return { error: String(error), ended: recipe.ended?.(error) ?? false };
  }
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await perform(JSON.parse(line)))}\n`);
