import { z } from 'zod';
import { readPrivate } from '../platform/private-file.ts';

/** How to sign in to the demo company. */
export type DemoSignIn = { email: string; password: string };

/** The file of the demo sign-in is unreadable or invalid. */
export class DamagedDemoSignIn extends Error {}

const DemoSignIn = z.object({ email: z.string(), password: z.string() });

/** The sign-in in the file, if the file exists. */
export function readDemoSignIn(file: string): DemoSignIn | undefined {
  try {
    const text = readPrivate(file);
    return text === undefined ? undefined : DemoSignIn.parse(JSON.parse(text));
  } catch {
    throw new DamagedDemoSignIn(
      `The demo sign-in in ${file} cannot be read: restore that file, or delete it; ` +
        'the demo company is then entered by a code or a reset link.',
    );
  }
}
