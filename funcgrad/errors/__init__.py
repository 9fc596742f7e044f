"""Every error that funcgrad raises on purpose: one class, one failure.

Each class derives from `FuncgradError` and from the builtin exception a NumPy or JAX user would
catch. It is built from facts, kept in `args` (so it pickles), and words them in `__str__`: what
happened, why, what to write instead. The docstrings are short articles on the same three points.
"""

from funcgrad.errors.base import (
    FuncgradError,
)
from funcgrad.errors.calls import (
    BranchTypeError,
    CarryTypeError,
    CheckpointBudgetError,
    ComplexStepError,
    CustomRuleError,
    ImpureFunctionError,
    MissingRuleError,
    NotLinearRuleError,
    PredicateError,
    ScanOutputError,
    StagedDerivativeError,
)
from funcgrad.errors.checking import (
    DerivativeMismatchError,
    LawError,
    NothingToCheckError,
    NotSmoothError,
)
from funcgrad.errors.derivatives import (
    ArgnumsError,
    AuxError,
    CotangentError,
    InputTypeError,
    MissingDerivativeError,
    NonScalarOutputError,
    NotLinearError,
    OutputTypeError,
    RepeatedArgumentError,
    RuleError,
    TangentError,
    UnusedInputError,
)
from funcgrad.errors.implicit import (
    EquationError,
    NotConvergedError,
    SingularSystemError,
)
from funcgrad.errors.programs import (
    BatchAxisError,
    BatchedMaskError,
    BatchLoopWarning,
    DependenceCutWarning,
    NonFiniteError,
    ProgramArgumentsError,
    ProgramError,
    RefusalCaughtWarning,
)
from funcgrad.errors.spectra import (
    ArbitraryBasisError,
    EigenvectorPhaseError,
    RepeatedEigenvalueError,
)
from funcgrad.errors.tracing import (
    ChangedResidualError,
    ConcretizationError,
    EscapedTracerError,
    InPlaceError,
    OperandTypeError,
    UnknownValueError,
    UnsupportedArgumentError,
    UnsupportedFunctionError,
)
from funcgrad.errors.trees import (
    AlreadyRegisteredError,
    FieldNamesError,
    LeafCountError,
    NodeFunctionError,
    TreeStructureError,
    UnorderableKeysError,
    UnregisteredError,
)

__all__ = [
    "FuncgradError",
    "TreeStructureError",
    "LeafCountError",
    "UnorderableKeysError",
    "AlreadyRegisteredError",
    "FieldNamesError",
    "NodeFunctionError",
    "UnregisteredError",
    "ArgnumsError",
    "RepeatedArgumentError",
    "InputTypeError",
    "NonScalarOutputError",
    "OutputTypeError",
    "AuxError",
    "TangentError",
    "CotangentError",
    "UnusedInputError",
    "NotLinearError",
    "RuleError",
    "MissingDerivativeError",
    "RepeatedEigenvalueError",
    "ArbitraryBasisError",
    "EigenvectorPhaseError",
    "EscapedTracerError",
    "ConcretizationError",
    "UnknownValueError",
    "OperandTypeError",
    "UnsupportedFunctionError",
    "UnsupportedArgumentError",
    "InPlaceError",
    "ChangedResidualError",
    "ImpureFunctionError",
    "CheckpointBudgetError",
    "CustomRuleError",
    "ComplexStepError",
    "MissingRuleError",
    "NotLinearRuleError",
    "NotConvergedError",
    "SingularSystemError",
    "EquationError",
    "CarryTypeError",
    "BranchTypeError",
    "PredicateError",
    "ScanOutputError",
    "StagedDerivativeError",
    "ProgramArgumentsError",
    "ProgramError",
    "BatchAxisError",
    "BatchedMaskError",
    "NonFiniteError",
    "DependenceCutWarning",
    "RefusalCaughtWarning",
    "BatchLoopWarning",
    "DerivativeMismatchError",
    "NotSmoothError",
    "NothingToCheckError",
    "LawError",
]

for _name in __all__:  # where users find them, and tracebacks name them
    globals()[_name].__module__ = __name__
