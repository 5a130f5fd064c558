/** Looks again and again; what fails counts as no. */
export async function until(what: string, holds: () => Promise<boolean>, limitMs = 240_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await holds().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
