/**
 * Transforms classes, when they are loaded or built, so that their instances may be persistent; and reads class files
 * without loading their classes.
 *
 * <p>It may depend on the runtime. What it generates calls {@code runtime} and {@code store.memory.Memory}.
 */
package dev.norn.sas.agent;
