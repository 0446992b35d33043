//! Class files as javac writes them, read into values that own their data.
//!
//! `noak` reads what encloses the code: the constant pool, members, attributes as bytes. What is inside a `Code`
//! attribute is read here: `noak` 0.7 takes positions in `StackMapTable` for bytes of the attribute, and
//! `LineNumberTable` for rows of six bytes; `cafebabe` 0.9 overflows on hostile branches.
//!
//! Reading refuses what no card has as early as it is seen. It proves nothing about the code: that is the verifier's.

mod bytecode;
mod bytes;
mod code;
mod pool;
mod stack_map;

pub use bytecode::{Binary, Comparison, Element, FieldAccess, Invocation, Kind, Operands, Operation, Shuffle, Switch};
pub use code::{Code, Handler};
pub use pool::{Constant, MemberName, Pool};
pub use stack_map::{CellType, Frame};

use noak::reader::{Attribute, Class, Field, Method as RawMethod, cpool::ConstantPool};

use self::bytes::Bytes;
use self::pool::{decoded, member_name, text};
use crate::descriptor::{Signature, ValueType};
use crate::refusal::{Reason, Refusal};
use crate::shape::{ClassShape, FieldShape, Flags, MethodShape};

/// Class files of Java 8, the first that need no subroutines and have frames, and of the newest JDK that was tried.
const VERSIONS: std::ops::RangeInclusive<u16> = 52..=69;

/// A class with its code.
#[derive(Clone, Debug)]
pub struct ClassFile {
    /// What other classes may know of it.
    pub shape: ClassShape,
    /// The code of each method, in the order of [`ClassShape::methods`]; none for abstract and native ones.
    pub code: Vec<Option<Code>>,
    /// The value that each field starts with, in the order of [`ClassShape::fields`]: an entry of the pool.
    pub initial: Vec<Option<u16>>,
    /// The constant pool.
    pub pool: Pool,
}

impl ClassFile {
    /// Reads a class file; `path` names it in refusals until its own name is known.
    ///
    /// # Errors
    ///
    /// [`Reason::Malformed`] and [`Reason::NotOnCards`], with the place. Any bytes give a result or a refusal.
    pub fn read(bytes: &[u8], path: &str) -> Result<ClassFile, Refusal> {
        let nameless = |reason| Refusal { class: path.to_owned(), member: None, line: None, reason };
        let class = decoded(Class::new(bytes)).map_err(nameless)?;
        let name = internal_name(&class).map_err(nameless)?;
        let pool = Pool::read(class.pool());
        let whole = |reason| Refusal::of_class(&name, reason);
        check_version(&class, bytes.len()).map_err(whole)?;
        let mut shape = outline(&class, &pool, &name).map_err(whole)?;
        let mut initial = Vec::new();
        for field in class.fields() {
            let field = decoded(field).map_err(whole)?;
            let (field, value) = read_field(class.pool(), &field, &name)?;
            shape.fields.push(field);
            initial.push(value);
        }
        let mut code = Vec::new();
        for method in class.methods() {
            let method = decoded(method).map_err(whole)?;
            let (method, body) = MethodReader { names: class.pool(), pool: &pool, class: &shape }.read(&method)?;
            shape.methods.push(method);
            code.push(body);
        }
        no_duplicates(&shape).map_err(whole)?;
        Ok(ClassFile { shape, code, initial, pool })
    }
}

fn internal_name(class: &Class<'_>) -> Result<String, Reason> {
    let name = text(decoded(class.pool().retrieve(class.this_class()))?.name)?;
    if crate::descriptor::is_class_name(&name) {
        Ok(name)
    } else {
        Err(Reason::Malformed(format!("`{name}` cannot be the name of a class")))
    }
}

fn check_version(class: &Class<'_>, length: usize) -> Result<(), Reason> {
    let version = class.version();
    if class.buffer_size() != length {
        return Err(Reason::Malformed(format!("{} bytes follow the class", length - class.buffer_size())));
    }
    if !VERSIONS.contains(&version.major) || version.minor != 0 {
        let (first, last) = (VERSIONS.start(), VERSIONS.end());
        return Err(Reason::Malformed(format!(
            "version {}.{}, where {first} to {last} are read: compile with javac --release 8 to 25, without previews",
            version.major, version.minor
        )));
    }
    Ok(())
}

/// The shape without its members.
fn outline(class: &Class<'_>, pool: &Pool, name: &str) -> Result<ClassShape, Reason> {
    let flags = Flags(class.access_flags().bits());
    if flags.is_enum() {
        return Err(Reason::NotOnCards { what: "enum".to_owned(), instead: "use static final byte constants" });
    }
    if flags.is_final() && (flags.is_abstract() || flags.is_interface()) || flags.is_interface() && !flags.is_abstract()
    {
        return Err(Reason::Malformed(format!("the access flags 0x{:04x} contradict each other", flags.0)));
    }
    let parent = class.super_class().map(|entry| class_entry(pool, entry.as_u16())).transpose()?;
    let mut interfaces = Vec::new();
    for interface in class.interfaces() {
        interfaces.push(class_entry(pool, decoded(interface)?.as_u16())?);
    }
    let nest_host = match attribute(class.pool(), class.attributes(), "NestHost")? {
        Some(content) => Some(class_entry(pool, number(content)?)?),
        None => None,
    };
    let nest_members = nest_members(class, pool)?;
    let (fields, methods) = (Vec::new(), Vec::new());
    Ok(ClassShape { name: name.to_owned(), parent, interfaces, flags, fields, methods, nest_host, nest_members })
}

/// A class, not an array, by its entry.
fn class_entry(pool: &Pool, entry: u16) -> Result<String, Reason> {
    let name = pool.class(entry)?;
    if name.starts_with('[') {
        return Err(Reason::Malformed(format!("`{name}` is an array where a class is expected")));
    }
    Ok(name.to_owned())
}

fn nest_members(class: &Class<'_>, pool: &Pool) -> Result<Vec<String>, Reason> {
    let Some(content) = attribute(class.pool(), class.attributes(), "NestMembers")? else { return Ok(Vec::new()) };
    let mut bytes = Bytes::new(content);
    let count = bytes.u16().map_err(Reason::Malformed)?;
    (0..count).map(|_| class_entry(pool, bytes.u16().map_err(Reason::Malformed)?)).collect()
}

/// The content of the attribute of a name; two of one name are refused.
fn attribute<'a>(
    names: &ConstantPool<'a>,
    attributes: impl IntoIterator<Item = Result<Attribute<'a>, noak::error::DecodeError>>,
    wanted: &str,
) -> Result<Option<&'a [u8]>, Reason> {
    let mut found = None;
    for attribute in attributes {
        let attribute = decoded(attribute)?;
        if decoded(names.retrieve(attribute.name()))?.as_bytes() == wanted.as_bytes()
            && found.replace(attribute.content()).is_some()
        {
            return Err(Reason::Malformed(format!("two attributes {wanted}")));
        }
    }
    Ok(found)
}

/// An attribute that is one number.
fn number(content: &[u8]) -> Result<u16, Reason> {
    let mut bytes = Bytes::new(content);
    let number = bytes.u16().and_then(|number| bytes.end().map(|()| number));
    number.map_err(Reason::Malformed)
}

fn read_field(names: &ConstantPool<'_>, field: &Field<'_>, class: &str) -> Result<(FieldShape, Option<u16>), Refusal> {
    let name = decoded(names.retrieve(field.name())).and_then(member_name);
    let name = name.map_err(|reason| Refusal::of_class(class, reason))?;
    let read = || {
        let descriptor = text(decoded(names.retrieve(field.descriptor()))?)?;
        let value = ValueType::parse(&descriptor)?;
        let initial = attribute(names, field.attributes(), "ConstantValue")?.map(number).transpose()?;
        let flags = Flags(field.access_flags().bits());
        check_visibility(flags)?;
        Ok((FieldShape { name: name.clone(), descriptor, value, flags }, initial))
    };
    read().map_err(|reason| Refusal::of_member(class, name.clone(), reason))
}

/// At most one of public, private and protected.
fn check_visibility(flags: Flags) -> Result<(), Reason> {
    let count = [flags.is_public(), flags.is_private(), flags.is_protected()].into_iter().filter(|is| *is).count();
    if count > 1 {
        return Err(Reason::Malformed(format!("the access flags 0x{:04x} contradict each other", flags.0)));
    }
    Ok(())
}

fn no_duplicates(shape: &ClassShape) -> Result<(), Reason> {
    let fields = shape.fields.iter().map(|field| (&field.name, &field.descriptor));
    let methods = shape.methods.iter().map(|method| (&method.name, &method.descriptor));
    let mut seen = std::collections::BTreeSet::new();
    for (name, descriptor) in fields.chain(methods) {
        if !seen.insert((name, descriptor)) {
            return Err(Reason::Malformed(format!("`{name}{descriptor}` is there twice")));
        }
    }
    Ok(())
}

/// A class whose methods are being read.
struct MethodReader<'a, 'input> {
    names: &'a ConstantPool<'input>,
    pool: &'a Pool,
    class: &'a ClassShape,
}

impl<'input> MethodReader<'_, 'input> {
    fn read(&self, method: &RawMethod<'input>) -> Result<(MethodShape, Option<Code>), Refusal> {
        let class = &self.class.name;
        let name = decoded(self.names.retrieve(method.name())).and_then(member_name);
        let name = name.map_err(|reason| Refusal::of_class(class, reason))?;
        let descriptor = decoded(self.names.retrieve(method.descriptor())).and_then(text);
        let descriptor = descriptor.map_err(|reason| Refusal::of_member(class, name.clone(), reason))?;
        let member = format!("{name}{descriptor}");
        let refused = |reason| Refusal::of_member(class, member.clone(), reason);
        let shape = method_shape(name, descriptor, Flags(method.access_flags().bits())).map_err(refused)?;
        check_flags(self.class, &shape).map_err(refused)?;
        let content = attribute(self.names, method.attributes(), "Code").map_err(refused)?;
        let code = match (content, shape.flags.is_abstract() || shape.flags.is_native()) {
            (None, true) => None,
            (Some(content), false) => {
                Some(self.code(content, &shape).map_err(|(line, reason)| Refusal { line, ..refused(reason) })?)
            }
            _ => return Err(refused(Reason::Malformed("code where there is none, or none where it is due".into()))),
        };
        Ok((shape, code))
    }

    fn code(&self, content: &[u8], method: &MethodShape) -> Result<Code, (Option<u16>, Reason)> {
        let first = first_frame(&self.class.name, method);
        let code = code::read(content, self.names, self.pool, &first)?;
        if first.locals.len() > usize::from(code.max_locals) {
            return Err((None, Reason::Unverifiable("the parameters take more locals than there are".to_owned())));
        }
        Ok(code)
    }
}

/// The frame at a method's start: `this`, then the parameters.
#[must_use]
pub fn first_frame(class: &str, method: &MethodShape) -> Frame {
    let this = match (method.flags.is_static(), &*method.name) {
        (true, _) => None,
        (false, "<init>") if class == "java/lang/Object" => Some(CellType::Reference(class.to_owned())),
        (false, "<init>") => Some(CellType::UninitializedThis),
        (false, _) => Some(CellType::Reference(class.to_owned())),
    };
    let parameters = method.signature.parameters.iter().map(CellType::of);
    Frame { locals: this.into_iter().chain(parameters).collect(), stack: Vec::new() }
}

fn method_shape(name: String, descriptor: String, flags: Flags) -> Result<MethodShape, Reason> {
    let signature = Signature::parse(&descriptor)?;
    Ok(MethodShape { name, descriptor, signature, flags })
}

/// What a method may be in its class, on a card.
fn check_flags(class: &ClassShape, method: &MethodShape) -> Result<(), Reason> {
    let flags = method.flags;
    check_visibility(flags)?;
    if flags.is_synchronized() {
        let instead = "leave synchronized out: one command runs at a time";
        return Err(Reason::NotOnCards { what: "threads".to_owned(), instead });
    }
    if class.flags.is_interface() && !flags.is_abstract() && method.name != "<clinit>" {
        let instead = "put the code into a class, static or abstract";
        return Err(Reason::NotOnCards { what: "methods with code in an interface".to_owned(), instead });
    }
    let special = method.name.starts_with('<');
    let right = match &*method.name {
        "<init>" => !flags.is_static() && !flags.is_final() && !flags.is_abstract() && !flags.is_native(),
        "<clinit>" => flags.is_static() && method.descriptor == "()V" && !flags.is_abstract() && !flags.is_native(),
        _ => true,
    };
    let contradicts = flags.is_abstract()
        && (flags.is_static() || flags.is_final() || flags.is_private() || flags.is_native())
        || flags.is_abstract() && !class.flags.is_abstract()
        || class.flags.is_interface() && !special && !flags.is_public()
        || method.name == "<init>" && method.signature.result.is_some();
    if !right || contradicts {
        return Err(Reason::Malformed(format!("the access flags 0x{:04x} of `{}` do not fit", flags.0, method.name)));
    }
    Ok(())
}
