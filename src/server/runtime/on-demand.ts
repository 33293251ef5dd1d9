export type Calls<Port> = { [Name in keyof Port]: (...args: never[]) => Promise<unknown> }

/**
 * Loads a port's code on its first call, so that isolates that never call it start faster. `import()`
 * evaluates once per isolate.
 */
export function onDemand<Port extends Calls<Port>>(load: () => Promise<Port>): Port {
  // Kept per port, so per request: workerd ends work that awaits another request's promise.
  let port: Promise<Port> | undefined
  const call =
    (name: keyof Port) =>
    async (...args: never[]) => {
      port ??= load()
      return (await port)[name](...args)
    }
  return new Proxy({} as Port, { get: (_, name) => call(name as keyof Port) })
}
