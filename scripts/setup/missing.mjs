/** Something this machine lacks. The message is one sentence that says what to do; it is shown without a stack. */
export class Missing extends Error {}

/** Runs `main`; a `Missing` ends the process with its sentence alone, any other error with its stack. */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Missing ? error.message : error);
    process.exitCode = 1;
  }
}
