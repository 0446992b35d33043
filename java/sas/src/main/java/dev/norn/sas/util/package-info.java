/**
 * Collections and arrays that may be persistent: ordinary classes over the interface of SAS, transformed like those of
 * a program when SAS is built.
 */
package dev.norn.sas.util;
