type Calls<Port> = { [Name in keyof Port]: (...args: never[]) => Promise<unknown> }

/** A port whose code is evaluated at its first call: an isolate that never calls it starts without. `import()` evaluates once per isolate. */
export function onDemand<Port extends Calls<Port>>(load: () => Promise<Port>): Port {
  // Kept by the port, so by one request: workerd ends what waits for another request's promise.
  let port: Promise<Port> | undefined
  const call =
    (name: keyof Port) =>
    async (...args: never[]) => {
      port ??= load()
      return (await port)[name](...args)
    }
  return new Proxy({} as Port, { get: (_, name) => call(name as keyof Port) })
}
